# R copies itself and works in parallel.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "interpreters_r_parallel"

main(CAPABILITY, function() {
  squares <- parallel::mclapply(1:4, function(n) n * n, mc.cores = 2)
  stopifnot(identical(unlist(squares), c(1L, 4L, 9L, 16L)))
  "two processes squared four numbers"
})
