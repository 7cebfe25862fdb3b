# A file can be made, read back and removed in the temporary directory, by base R.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "filesystem_tmp_write"

main(CAPABILITY, function() {
  path <- scratch("tmp-write")
  writeLines("capability", path)
  stopifnot(readLines(path) == "capability")
  unlink(path)
  paste("wrote and removed", path)
})
