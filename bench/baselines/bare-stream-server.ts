import { createServer } from 'node:http';
import pg from 'pg';
import { WebSocketServer, type WebSocket } from 'ws';

/**
 * The minimum of such a service: takes commands from WebSockets, writes reservation and record in one
 * transaction for all waiting commands, and acknowledges. No tokens, rules, shards or subscribers. Runs as a
 * process of its own and prints its port.
 */
const [url = ''] = process.argv.slice(2);

interface Command {
  readonly socket: WebSocket;
  readonly id: string;
  readonly account: string;
  readonly text: string;
}

const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`
  create table if not exists bench_reserved (account text primary key, amount bigint not null);
  create table if not exists bench_commands (id bigint generated always as identity primary key, payload text not null)`);

let waiting: Command[] = [];
let running = false;

async function drain(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    const accounts = [...new Set(group.map(({ account }) => account))];
    await client.query('begin');
    await client.query({
      name: 'bare-reserve',
      text: `insert into bench_reserved (account, amount) select account, 1 from unnest($1::text[]) account
             on conflict (account) do update set amount = bench_reserved.amount + 1`,
      values: [accounts],
    });
    await client.query({
      name: 'bare-record',
      text: 'insert into bench_commands (payload) select unnest($1::text[])',
      values: [group.map(({ text }) => text)],
    });
    await client.query('commit');
    for (const { socket, id, text } of group) socket.send(`{"type":"ack","cmd_id":"${id}","result":${text}}`);
  }
  running = false;
}

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket, request) => {
  const account = request.headers.authorization ?? '';
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    const { cmd_id: id } = JSON.parse(text) as { cmd_id: string };
    waiting.push({ socket, id, account, text });
    // Messages of the same turn of the event loop share a transaction.
    if (!running) setImmediate(() => void (running ? undefined : drain()));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
