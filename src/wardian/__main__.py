"""``python -m wardian``: the same as the command ``wardian``.

Python puts the working directory first on its path for ``-m``. What lies there may belong to the
skill that is about to be shut in, so it goes before anything else is imported.
"""

import sys

dropped = sys.path.pop(0) if not sys.flags.safe_path and sys.path else None

if __name__ == "__main__":
    from wardian.cli import main

    if dropped is not None:
        from wardian.sandbox.paths import own_files

        own_files.started_in = dropped  # never shared for writing: Python will look there again
    main()
