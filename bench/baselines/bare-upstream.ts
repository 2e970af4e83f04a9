import { createServer } from 'node:http';

/** Answers every request with the same body. Runs as a process of its own and prints its port. */
const [body = ''] = process.argv.slice(2);
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };

const server = createServer((_, response) => {
  response.writeHead(200, headers).end(body);
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
