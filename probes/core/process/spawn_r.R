# A program can be started and its output read, by R.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "process_spawn"

main(CAPABILITY, function() {
  stopifnot(system2("/bin/echo", "hello", stdout = TRUE) == "hello")
  "echo said hello"
})
