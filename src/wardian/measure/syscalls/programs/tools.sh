# The ordinary work of the common tools: copy, list, search, pack, compare, link.
set -eu
mkdir -p tools/a/b
seq 1 1000 >tools/numbers
cp -a tools/numbers tools/a/
mv tools/a/numbers tools/a/b/
ln tools/numbers tools/hard
ln -s numbers tools/soft
readlink tools/soft >/dev/null
ls -lR tools >/dev/null
find tools -name 'n*' -newer tools/a >/dev/null
grep -rc 99 tools/numbers >/dev/null
sed -n '$p' tools/numbers >/dev/null
awk '{ sum += $1 } END { print sum }' tools/numbers >/dev/null
sort -r tools/numbers | uniq -c | head -n 3 >/dev/null
tr 0-9 a-j <tools/numbers | wc -l >/dev/null
cut -c 1-2 tools/numbers | tail -n 1 >/dev/null
tar -czf tools.tgz tools
mkdir unpacked
tar -xzf tools.tgz -C unpacked
diff -r tools unpacked/tools
gzip -k tools/a/b/numbers
gzip -dc tools/a/b/numbers.gz | cmp - tools/numbers
dd if=/dev/zero of=tools/zeros bs=4k count=4 status=none
truncate -s 8k tools/zeros
touch -d '2001-02-03' tools/zeros
chmod 640 tools/zeros
stat tools/zeros >/dev/null
du -s tools >/dev/null
df . >/dev/null
date >/dev/null
id >/dev/null
uname -a >/dev/null
env >/dev/null
sleep 0.01
timeout 5 true
xargs -a tools/numbers -n 500 echo >/dev/null
sync tools/zeros
rm -r tools unpacked tools.tgz
