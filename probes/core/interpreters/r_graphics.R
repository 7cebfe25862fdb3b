# R draws a plot into a file.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "interpreters_r_graphics"

main(CAPABILITY, function() {
  path <- scratch("plot")
  pdf(path)
  plot(cars)
  dev.off()
  size <- file.size(path)
  unlink(path)
  stopifnot(size > 1000)
  "drew a plot"
})
