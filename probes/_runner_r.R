# What an R specimen needs: command line, observation, exit code. Base R, and no wardian.
#
# A specimen declares CAPABILITY and calls main(CAPABILITY, function() …). Returning means allowed
# (the text is the detail); an error or a warning means blocked. R keeps no errno: its name is found
# from the system's words for it.

invisible(Sys.setlocale("LC_MESSAGES", "C")) # errors in the words below

.errnos <- c(
  "Operation not permitted" = "EPERM", "No such file or directory" = "ENOENT",
  "Permission denied" = "EACCES", "Read-only file system" = "EROFS",
  "Function not implemented" = "ENOSYS", "Connection refused" = "ECONNREFUSED",
  "Network is unreachable" = "ENETUNREACH", "No space left on device" = "ENOSPC",
  "Cannot allocate memory" = "ENOMEM", "Resource temporarily unavailable" = "EAGAIN",
  "Too many open files" = "EMFILE", "File exists" = "EEXIST", "Not a directory" = "ENOTDIR",
  "Is a directory" = "EISDIR", "Operation not supported" = "EOPNOTSUPP",
  "Invalid argument" = "EINVAL", "File too large" = "EFBIG", "Device or resource busy" = "EBUSY"
)

.verdict <- function(observed, detail, errno = NULL) {
  structure(class = c("probe_verdict", "condition"),
            list(message = detail, call = NULL, observed = observed, errno = errno))
}

# The operation was refused; the question can't be put here.
blocked <- function(detail, errno = NULL) stop(.verdict("blocked", detail, errno))
unavailable <- function(detail) stop(.verdict("unavailable", detail))

# A path in the temporary directory that no other specimen uses; nothing is made there.
scratch <- function(name = "probe") {
  directory <- Sys.getenv("TMPDIR", "/tmp")
  sprintf("%s/wardian-%s-%d-%d", directory, name, Sys.getpid(), as.integer(runif(1) * 1e9))
}

# What the harness placed on the host, outside the sandbox.
witness <- function(name) {
  variable <- paste0("PROBE_HOST_", name)
  value <- Sys.getenv(variable)
  if (value == "") unavailable(paste(variable, "is not set: `wardian probe run` sets it"))
  value
}

main <- function(capability, exercise) {
  arguments <- .arguments()
  seen <- observe(exercise)
  expected <- if (Sys.getenv("PROBE_EXPECT") == "blocked") "blocked" else "allowed"
  status <- classify(seen$observed, expected)
  fields <- list(
    schema = "wardian.observation/1", id = arguments$id, capability = capability, language = "r",
    observed = seen$observed, errno = seen$errno, detail = substr(seen$message, 1, 500),
    expected = expected, status = status
  )
  names <- c("schema", "id", "capability", "language", "observed", "errno", "detail", "expected",
             "status")
  pairs <- vapply(names, function(n) paste0(.quoted(n), ": ", .quoted(fields[[n]])), "")
  .write(arguments$output, paste0("{", paste(pairs, collapse = ", "), "}"))
  quit(save = "no", status = if (status %in% c("supported", "blocked_expected")) 0 else 1)
}

observe <- function(exercise) {
  failed <- function(condition) {
    text <- conditionMessage(condition)
    known <- names(.errnos)[vapply(names(.errnos), grepl, TRUE, x = text, fixed = TRUE)]
    .verdict("blocked", text, if (length(known)) .errnos[[known[[1]]]])
  }
  tryCatch(.verdict("allowed", paste(as.character(exercise()), collapse = " ")),
           probe_verdict = identity, error = failed, warning = failed)
}

classify <- function(observed, expected) {
  if (observed == "allowed") {
    return(if (expected == "allowed") "supported" else "allowed_unexpected")
  }
  if (observed == "blocked") {
    return(if (expected == "blocked") "blocked_expected" else "blocked_unexpected")
  }
  observed
}

.arguments <- function() {
  words <- commandArgs(trailingOnly = TRUE)
  id <- Sys.getenv("PROBE_ID")
  output <- if (id == "") NULL else paste0("artifacts/", id, ".json")
  while (length(words)) {
    if (startsWith(words[[1]], "--output=")) {
      output <- substring(words[[1]], 10)
      words <- words[-1]
    } else if (words[[1]] == "--output" && length(words) > 1) {
      output <- words[[2]]
      words <- words[-(1:2)]
    } else {
      message("usage: specimen.R [--output PATH]")
      quit(save = "no", status = 2)
    }
  }
  if (!is.null(output) && output == "-") output <- NULL
  if (!is.null(output) && !startsWith(output, "/")) output <- file.path(getwd(), output)
  if (id == "") id <- .id_of_path()
  list(output = output, id = id)
}

.id_of_path <- function() {
  file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
  file <- sub("[.][^./]*$", "", normalizePath(file))
  gsub("/", "__", sub("^.*/(core|fuzz)/", "\\1/", file))
}

.quoted <- function(value) {
  if (is.null(value)) return("null")
  text <- iconv(value, to = "UTF-8", sub = "?")
  text <- gsub("([\"\\\\])", "\\\\\\1", text)
  paste0("\"", gsub("[[:cntrl:]]", " ", text), "\"")
}

.write <- function(output, line) {
  if (is.null(output)) return(cat(line, "\n", sep = ""))
  dir.create(dirname(output), showWarnings = FALSE, recursive = TRUE)
  temporary <- sprintf("%s.%d.tmp", output, Sys.getpid())
  writeLines(line, temporary, useBytes = TRUE)
  if (!file.rename(temporary, output)) quit(save = "no", status = 1)
}
