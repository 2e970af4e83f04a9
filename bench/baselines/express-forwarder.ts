import { Agent, request } from 'node:http';
import express from 'express';

/**
 * An Express route that forwards requests over kept-alive connections: the least that a gateway before an
 * owner could do. Runs as a process of its own and prints its port.
 */
const [upstream = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

const app = express();
app.get('/v1/auctions/:auctionID', (incomingCall, answer) => {
  request(`${upstream}${incomingCall.path}`, { agent }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      answer
        .status(incoming.statusCode ?? 502)
        .type('json')
        .send(Buffer.concat(chunks));
    });
  }).end();
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
