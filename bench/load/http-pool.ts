import { HttpConnection, type HttpAnswer, type HttpCall } from './http-connection.js';

/** As many lasting connections as requests are under way at once. */
export class HttpPool {
  private readonly all: HttpConnection[] = [];
  private readonly idle: HttpConnection[] = [];

  constructor(private readonly url: string) {}

  async send(call: HttpCall): Promise<HttpAnswer> {
    const connection = this.idle.pop() ?? this.opened();
    const answer = await connection.send(call);
    this.idle.push(connection);
    return answer;
  }

  close(): void {
    for (const connection of this.all) connection.close();
  }

  private opened(): HttpConnection {
    const connection = new HttpConnection(this.url);
    this.all.push(connection);
    return connection;
  }
}
