# The ordinary work of Ruby: files, children, threads, sockets, a signal.
require 'fileutils'
require 'json'
require 'open3'
require 'socket'
require 'tmpdir'

Dir.mktmpdir do |place|
  file = File.join(place, 'data.json')
  File.write(file, JSON.generate('a' => [1, 2]))
  JSON.parse(File.read(file))
  File.rename(file, "#{file}.old")
  FileUtils.cp("#{file}.old", file)
  FileUtils.mkdir_p(File.join(place, 'a/b'))
  Dir.glob(File.join(place, '**'))
end
Open3.capture2('sort', stdin_data: "b\na\n")
system('true')
Process.wait(fork { exit!(3) })
[1, 2].map { Thread.new { sleep 0.001 } }.each(&:join)
trap('USR1') {}
Process.kill('USR1', Process.pid)
server = TCPServer.new('127.0.0.1', 0)
client = TCPSocket.new('127.0.0.1', server.addr[1])
peer = server.accept
peer.puts 'hello'
peer.close
client.gets
client.close
