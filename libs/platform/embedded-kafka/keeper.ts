import { startWatcher } from '../supervision/watcher.js';

/** The broker is asked to stop, and killed if it does not in time. */
const SCRIPT = `
kill -TERM "$1"
for second in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 "$1" || exit 0
  sleep 1
done
kill -KILL "$1"
`;

/** No broker outlives the process that started it, however that ends. Returns what to call once the broker is gone. */
export function keepBroker(pid: number): () => void {
  return startWatcher('sotto-kafka-keeper', SCRIPT, [String(pid)]);
}
