import { messagesOf, type AsyncApi, type StreamMessage } from '../../edge/documents/asyncapi-types.js';
import type { RecordedFrame } from './recorder.js';
import { SchemaSet } from './schema-set.js';

/** The codes that a WebSocket reports when it was closed without one. */
const NO_CODE = new Set([1005, 1006]);

interface ParsedFrame {
  readonly type?: unknown;
  /** Clients of `/ws` send this instead of `type`. */
  readonly op?: unknown;
}

/** Checks frames of streams against the document, and notes which of its parts they have shown. */
export class StreamCheck {
  readonly shown = new Set<string>();
  private readonly schemas: SchemaSet;
  private readonly client: ReadonlyMap<unknown, StreamMessage>;
  private readonly server: ReadonlyMap<unknown, StreamMessage>;

  constructor(private readonly document: AsyncApi) {
    this.schemas = new SchemaSet(document.components.schemas);
    const byName = (messages: readonly StreamMessage[]): Map<unknown, StreamMessage> =>
      new Map(messages.map((message) => [message.name, message]));
    this.client = byName(messagesOf(document, 'receive'));
    this.server = byName(messagesOf(document, 'send'));
  }

  /** Deviations from the document, one line each. */
  faults(frames: readonly RecordedFrame[]): string[] {
    return frames.flatMap((frame) => {
      if ('closed' in frame) return this.closeFaults(frame.closed);
      return this.messageFaults(frame.direction === 'server' ? this.server : this.client, parsed(frame.text));
    });
  }

  /** Everything in the document that a stream could show. */
  get parts(): string[] {
    const { channels } = this.document;
    return [
      ...[...this.client.values()].map(({ name }) => `message ${name}`),
      ...[...this.server.values()].map(({ name }) => `message ${name}`),
      ...Object.keys(channels.stream['x-close-codes']).map((code) => `close ${code}`),
      // The codes come from the endpoints. The other document covers their replies.
      ...this.schemas.parts.filter((part) => !part.startsWith('RejectMessage.error=')),
    ];
  }

  private closeFaults(code: number): string[] {
    if (NO_CODE.has(code)) return [];
    this.shown.add(`close ${code}`);
    return code in this.document.channels.stream['x-close-codes']
      ? []
      : [`close code ${code} is not documented`];
  }

  private messageFaults(known: ReadonlyMap<unknown, StreamMessage>, said: ParsedFrame | undefined): string[] {
    const message = known.get(said?.type ?? said?.op);
    if (message === undefined) return [`message ${JSON.stringify(said).slice(0, 200)} is not documented`];
    const faults = this.schemas.faults(message.payload, said);
    if (faults.length > 0) return faults.map((fault) => `message ${message.name}: ${fault}`);
    this.shown.add(`message ${message.name}`);
    this.schemas.show(message.payload, said, '', this.shown);
    return [];
  }
}

function parsed(text: string): ParsedFrame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
