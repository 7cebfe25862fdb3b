"""``python -m wardian``: the same as the command ``wardian``.

Python puts the working directory first on its path for ``-m``. What lies there may belong to the
skill that is about to be shut in, so it goes before anything else is imported.
"""

import sys

if not sys.flags.safe_path and sys.path:
    del sys.path[0]

if __name__ == "__main__":
    from wardian.cli import main

    main()
