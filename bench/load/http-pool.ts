import { HttpConnection, type HttpAnswer, type HttpCall } from './http-connection.js';

/** As many kept-alive connections as there are concurrent requests. */
export class HttpPool {
  private readonly all: HttpConnection[] = [];
  private readonly idle: HttpConnection[] = [];

  constructor(private readonly url: string) {}

  async send(call: HttpCall): Promise<HttpAnswer> {
    const connection = this.idle.pop() ?? this.newConnection();
    const answer = await connection.send(call);
    this.idle.push(connection);
    return answer;
  }

  close(): void {
    for (const connection of this.all) connection.close();
  }

  private newConnection(): HttpConnection {
    const connection = new HttpConnection(this.url);
    this.all.push(connection);
    return connection;
  }
}
