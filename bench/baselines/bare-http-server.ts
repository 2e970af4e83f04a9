import { createServer } from 'node:http';
import pg from 'pg';

/**
 * Plain node:http. Writes every body into a table, waiting bodies in one statement, and answers with the same
 * body. Runs as a process of its own and prints its port.
 */
const [url = ''] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(
  'create table if not exists bench_bodies (id bigint generated always as identity primary key, payload text not null)',
);

let waiting: { readonly body: string; readonly done: () => void }[] = [];
let running = false;

async function drain(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    await client.query({
      name: 'bare-body',
      text: 'insert into bench_bodies (payload) select unnest($1::text[])',
      values: [group.map(({ body }) => body)],
    });
    for (const { done } of group) done();
  }
  running = false;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const answer = JSON.stringify(JSON.parse(body));
    waiting.push({
      body,
      done: () => {
        response.writeHead(201, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(answer),
        });
        response.end(answer);
      },
    });
    if (!running) setImmediate(() => void (running ? undefined : drain()));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
