# A server and a client can talk over TCP on the loopback, by R.
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
source(file.path(dirname(here), "../../_runner_r.R"))

CAPABILITY <- "network_loopback"

# R cannot be given port 0, so a few are tried.
listen <- function() {
  for (port in 20000L + (Sys.getpid() + 0:9 * 977L) %% 10000L) {
    server <- tryCatch(serverSocket(port), error = function(e) NULL)
    if (!is.null(server)) return(list(server, port))
  }
  serverSocket(port)
}

main(CAPABILITY, function() {
  server <- listen()
  client <- socketConnection("127.0.0.1", server[[2]], timeout = 10, blocking = TRUE, open = "r+")
  accepted <- socketAccept(server[[1]], timeout = 10, blocking = TRUE, open = "r+")
  writeLines("hello", accepted)
  stopifnot(readLines(client, 1) == "hello")
  for (end in list(client, accepted, server[[1]])) close(end)
  "TCP on 127.0.0.1"
})
