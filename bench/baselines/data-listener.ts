import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { dataReply } from '#libs/data/api/replies.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openDataRoutes } from '#libs/testing/data/data-routes.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';

/**
 * The listener of market data in a process of its own: candles and trades of a database, or without one a
 * single route that says hello. Prints its port.
 */
const [database] = process.argv.slice(2);

const hello = endpoint({ operationId: 'hello', method: 'GET', path: '/hello', access: 'session' });

class HelloController {
  @Endpoint(hello)
  get(): Reply {
    return dataReply({ hello: 'world' });
  }
}

const { url: address } =
  database === undefined
    ? await openDataRoutes([new HelloController()])
    : await SeriesListener.open(
        openPool(database, { applicationName: 'bench-reads', max: 4 }),
        new SystemClock(),
      );
console.log(new URL(address).port);
