import type { CallAnswer, DemoTrader } from '../../e2e/execution/orders-floor.js';

/** A trader's submit, and what is known of it. */
export interface Submitted {
  readonly trader: DemoTrader;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly client_order_id: string;
    readonly exchange_id: string;
  };
  /** Set once the service has acknowledged the order. */
  order_id: string | undefined;
  /** Set once the service has refused it. */
  refusal: string | undefined;
}

export interface AmendedTo {
  readonly order_id: string;
  readonly price: string;
}

const SERVER_ERROR = 500;
const TOO_MANY = 429;
/** The service looks for an accepted order before it gives these, so there is none under this key. */
const NOT_TAKEN = ['EXCHANGE_TRADING_HALTED', 'EXCHANGE_CIRCUIT_OPEN'];

/** The traders' requests and answers, and contradictions between them. */
export class OrderTranscript {
  readonly submits: Submitted[] = [];
  /** Amends that the service has confirmed. */
  readonly amends: AmendedTo[] = [];
  readonly contradictions: string[] = [];
  answers = 0;
  unanswered = 0;

  open(trader: DemoTrader, body: Submitted['body']): Submitted {
    const submitted = { trader, body, order_id: undefined, refusal: undefined };
    this.submits.push(submitted);
    return submitted;
  }

  /** Whether this answer is final; no answer and a server error are not. */
  answered(submitted: Submitted, answer: CallAnswer | undefined): boolean {
    this.count(answer);
    if (answer === undefined || answer.status === TOO_MANY) return false;
    const isSure = NOT_TAKEN.some((code) => answer.text.includes(`"${code}"`));
    if (answer.status >= SERVER_ERROR && !isSure) return false;
    const name = submitted.body.client_order_id;
    if (answer.status !== 200) {
      if (submitted.order_id !== undefined)
        this.contradictions.push(`${name}: accepted, then ${answer.text}`);
      submitted.refusal ??= answer.text;
      return true;
    }
    const id = String(answer.body.order_id);
    if (submitted.order_id !== undefined && submitted.order_id !== id)
      this.contradictions.push(`${name}: order ${submitted.order_id} and order ${id}`);
    if (submitted.order_id !== undefined && answer.headers.get('idempotent-replay') !== 'true')
      this.contradictions.push(`${name}: order ${id} was accepted twice`);
    submitted.order_id = id;
    submitted.refusal = undefined;
    return true;
  }

  count(answer: CallAnswer | undefined): void {
    if (answer === undefined) this.unanswered += 1;
    else this.answers += 1;
  }
}

/** Undefined if there was no answer, so the result is unknown. */
export async function heard(call: Promise<CallAnswer>): Promise<CallAnswer | undefined> {
  try {
    return await call;
  } catch {
    return undefined;
  }
}
