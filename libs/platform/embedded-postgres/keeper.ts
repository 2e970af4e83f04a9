/**
 * A shell that runs the server and holds a pipe to us as its standard input. When the pipe closes, and the kernel
 * closes it however we die, it gives the server's clients a second to finish, asks for a fast shutdown, and for an
 * immediate one if that takes too long. It ends with the server's exit code.
 */
export const KEEPER_SCRIPT = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
(
  read -r _ <&3
  trap 'kill "$nap"; wait "$nap"; exit 0' TERM
  sleep 1 & nap=$!
  wait "$nap"
  kill -INT "$server"
  sleep 5 & nap=$!
  wait "$nap"
  kill -QUIT "$server"
) 2>/dev/null &
guard=$!
exec 3<&-
wait "$server"
code=$?
kill "$guard" 2>/dev/null
wait "$guard" 2>/dev/null
[ -z "$SOTTO_REMOVE_FOLDER" ] || rm -rf "$SOTTO_REMOVE_FOLDER"
exit "$code"
`;
