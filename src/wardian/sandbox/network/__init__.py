"""A network by name: what a rule names can be reached by every program, nothing else exists.

rules         what may be reached: names, addresses, ports
addresses     which addresses a name does not make reachable
dns           the little of DNS that the guest's resolver needs
resolver      the guest's resolver: allowed names get addresses of their own
inside        sockets that live in the guest's network and are held out here
listening     where the gateway listens in the guest's network
first_words   whom a connection is for: the server name of TLS, the Host of HTTP
dialing       from an allowed name to a connection
relay         bytes from one socket to another and back
links         a connection of the guest's, from accept to its end
loop          a loop over sockets
asking        questions about what no rule allows, and their answers
in_force      the rules that hold now: the policy's, what was allowed since, what was withdrawn
run_rules     the same for one run, with what was allowed once
requests      which requests a rule allows: methods, paths
by_request    hosts whose requests are looked at, ready for use
trust         the authority of a sandbox, and what a guest trusts by it
tls_end       one end of a TLS connection
terminating   a connection whose requests are looked at
askers        which process of the guest has a socket
outcomes      what came of questions and connections
gateway       all of it for one run, or for a living sandbox
share         of a living sandbox's gateway, what one command brought about
"""
