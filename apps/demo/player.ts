import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import type { DemoStage } from './stage.js';
import type { DemoTerminal } from './terminal.js';

type AnswerBody = Readonly<Record<string, unknown>>;

/** Selects the part of the answer to print. Without it neither call nor answer is printed. */
type Show = (answer: AnswerBody) => unknown;

interface DemoRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly show?: Show | undefined;
}

interface Setting {
  readonly stage: DemoStage;
  readonly terminal: DemoTerminal;
}

/** A participant of the demo. Calls HTTP like any other client, and prints requests and answers. */
export class Player {
  private constructor(
    readonly name: string,
    readonly accountId: string,
    private readonly api: ApiClient,
    private readonly setting: Setting,
  ) {}

  static async enter(name: string, email: string, setting: Setting): Promise<Player> {
    const { url, password } = setting.stage;
    const anonymous = new ApiClient(url);
    const answer = await sent(anonymous, { method: 'POST', path: '/auth/login', body: { email, password } });
    if (answer.status === 401)
      throw new StartFault(`${email} cannot log in at ${url}: is it a demo cluster, with this password?`);
    const { access_token: token } = expected(answer, `login of ${email}`);
    if (typeof token !== 'string') throw new StartFault(`${url} is not a gateway of this service`);
    const api = anonymous.as(token);
    anonymous.close();
    const me = { method: 'GET', path: '/v1/me' } as const;
    const { account_id: accountId } = expected(await sent(api, me), `GET ${me.path}`);
    return new Player(name, String(accountId), api, setting);
  }

  get<Body extends object>(path: string, show?: Show): Promise<Body> {
    return this.call<Body>({ method: 'GET', path, show });
  }

  post<Body extends object>(path: string, body: object, show: Show | undefined): Promise<Body> {
    return this.call<Body>({ method: 'POST', path, body, show });
  }

  private async call<Body extends object>(apiCall: DemoRequest): Promise<Body> {
    const { method, path, body, show } = apiCall;
    const { terminal } = this.setting;
    if (show !== undefined) terminal.request(this.name, method, path, body);
    const answer = await sent(this.api, apiCall);
    const shown = expected(answer, `${method} ${path}`);
    if (show !== undefined) terminal.reply(answer.status, show(shown));
    return shown as Body;
  }
}

async function sent(api: ApiClient, { method, path, body }: DemoRequest): Promise<ApiAnswer<unknown>> {
  try {
    return await (body === undefined ? api.send(method, path) : api.post(path, body));
  } catch {
    throw new StartFault(`nothing answers at ${api.baseUrl}: is the cluster running?`);
  }
}

function expected({ status, text, body }: ApiAnswer<unknown>, what: string): AnswerBody {
  if (status < 300 && typeof body === 'object' && body !== null) return { ...body };
  throw new StartFault(`${what} was answered with ${status}: ${text.slice(0, 200)}`);
}
