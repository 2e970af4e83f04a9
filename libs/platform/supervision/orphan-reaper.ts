import { markerText, type ClusterMarker } from './marker.js';
import { startWatcher } from './watcher.js';

const PATIENCE_S = 8;

/**
 * Every process of this run has some seconds to notice by itself that we were killed, and what is left (stuck, or stopped by a
 * signal) is killed. The cluster file must not go on saying that all is well: where it cannot be written, it goes.
 */
const SCRIPT = `
marker=$1
if [ -f "$2" ]; then
  sed 's/"ready": true/"ready": false/' "$2" > "$2.over" && mv "$2.over" "$2" || rm -f "$2" "$2.over"
fi
left() { grep -lsaF "$marker" /proc/[0-9]*/environ; }
for second in $(seq ${PATIENCE_S}); do
  [ -n "$(left)" ] || exit 0
  sleep 1
done
for file in $(left); do
  pid=\${file#/proc/}
  kill -9 "\${pid%/environ}"
done
`;

export interface OrphanReaper {
  dismiss(): void;
}

/** Only Linux shows environments; elsewhere the processes' own watch on their launcher has to do. */
export function startOrphanReaper(marker: ClusterMarker, clusterFile: string): OrphanReaper {
  return { dismiss: startWatcher('sotto-orphan-reaper', SCRIPT, [markerText(marker), clusterFile]) };
}
