"""A network by name: what a rule names can be reached by every program, nothing else exists.

rules         what may be reached: names, addresses, ports
addresses     which addresses a name does not make reachable
dns           the little of DNS that the guest's resolver needs
first_words   whom a connection is for: the server name of TLS, the Host of HTTP
inside        sockets that live in the guest's network and are held out here
dialing       from an allowed name to a connection
relay         bytes from one socket to another and back
gateway       the loop: questions, connections, limits, what came of them
"""
