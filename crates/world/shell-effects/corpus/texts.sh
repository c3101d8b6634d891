make -j4 && ./configure --prefix="$HOME/x" || tar xf a.tar.gz
---
for f in *.c; do gcc -c "$f" -o "${f%.c}.o"; done; ld -o app *.o
---
if grep -q TODO src/main.c; then sed -i 's/TODO/DONE/' src/main.c; elif cmp a b; then cp a b; else rm -f b; fi
---
while read -r line; do curl -s "$line" | jq .name; done < urls.txt
---
case "$1" in
  start) systemctl start app ;;
  stop|halt) systemctl stop app; pkill app ;;
  *) cat usage.txt ;;
esac
---
deploy() {
  rsync -a dist/ host:/srv
  ssh host 'restart app'
}
deploy && git tag v1
---
(cd build && cmake .. && ninja) 2>&1 | tee build.log
---
{ npm ci; npm test; } > out.txt 2> err.txt
---
find . -name '*.o' -print0 | xargs -0 rm
---
tar c . | (cd /tmp && tar x)
---
x=$(git rev-parse HEAD) && docker build -t app:"$x" .
---
python3 - <<'PY'
import os
os.remove("x")
PY
sort out.txt
---
cat <<END > notes.txt
built by $(id) on $(hostname) with `gcc --version | head -1`
END
wc -l notes.txt
---
diff <(sort a) <(sort b) > >(tee diff.txt)
---
! test -f lock && touch lock; flock lock make
---
until ping -c1 host; do sleep 1; done; scp a host:
---
[ -d node_modules ] || npm install
---
[[ $x == a* && -f b ]] && patch -p1 < b
---
echo "$(rm "$(cat path)")"
---
ls; # rm -r x
pytest -q # and `nothing` here
---
a=1 b="$(id -u)" env -i perl -e 'print 1'
---
for ((i = 0; i < 3; i++)); do wget "http://localhost/$i"; done
---
go test ./... &
cargo build --release &
wait
---
time ffmpeg -i a.mp4 b.mp3
---
"git" status; 'gcc' -v; \ls -la
---
if ! [ -e a ]; then mkfifo a; fi; dd if=a of=b
---
f() (mktemp -d); g() { f | head -1; }
cd "$(g)" && unzip ../x.zip
---
cat a |& grep b
---
printf '%s\n' "${x:-$(nproc)}" "${y:=`date -u +%s | cut -c1-4`}"
---
if true; then
  while :; do
    for i in 1 2; do
      ( { openssl rand -hex 4; } | base64 )
    done
  done
fi
---
node -e 'process.exit(1)' || { ruby -v; exit 1; }
---
mysql db <<< "$(gzip -dc dump.gz)"
---
exec 3< <(nc -l 8080)
---
stat a >/dev/null && chmod +x a && ./a --flag
---
export PATH="$(brew --prefix)/bin:$PATH"; clang -v
---
A="$(echo "$(uptime -p | awk -F. '{print $1}')")"
---
echo a \
  && touch b \
  && strip c
---
arr=( $(ls) "$(tail -1 x)" ); head "${arr[0]}"
