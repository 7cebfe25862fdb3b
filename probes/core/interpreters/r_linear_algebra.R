# R solves a system of equations, with its libraries in C and Fortran.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "interpreters_r_linear_algebra"

main(CAPABILITY, function() {
  a <- matrix(c(2, 1, 1, 3), 2)
  stopifnot(all.equal(as.vector(solve(a, c(3, 5))), c(0.8, 1.4)))
  fit <- lm(dist ~ speed, data = cars)
  stopifnot(round(coef(fit)[["speed"]], 3) == 3.932)
  "solved equations and fitted a line"
})
