# R starts programs and reads what they write.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "interpreters_r_system"

main(CAPABILITY, function() {
  stopifnot(identical(system("printf 'b\na\n' | sort", intern = TRUE), c("a", "b")))
  stopifnot(system2("sh", c("-c", shQuote("exit 7"))) == 7)
  "a pipeline and an exit code"
})
