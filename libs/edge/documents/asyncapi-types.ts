import type { JsonSchema } from '../decoding/decode.js';
import type { OpenApi, Reference } from './openapi-types.js';

/** The part of AsyncAPI 3.0 that our document uses. */
export interface AsyncApi {
  readonly asyncapi: '3.0.0';
  readonly info: OpenApi['info'];
  readonly defaultContentType: string;
  readonly servers: Readonly<Record<string, AsyncApiServer>>;
  readonly channels: { readonly stream: StreamChannel };
  readonly operations: Readonly<Record<string, StreamOperation>>;
  readonly components: Pick<OpenApi['components'], 'securitySchemes' | 'schemas'>;
}

export interface AsyncApiServer {
  readonly host: string;
  readonly protocol: 'ws' | 'wss';
  readonly description: string;
  readonly variables: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly security: readonly Reference[];
}

export interface StreamChannel {
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly bindings: JsonSchema;
  /** The meaning of each close code. */
  readonly 'x-close-codes': Readonly<Record<string, string>>;
  readonly messages: Readonly<Record<string, StreamMessage>>;
}

export interface StreamMessage {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  readonly examples?: readonly { readonly name: string; readonly payload: unknown }[];
}

export interface StreamOperation {
  readonly action: 'send' | 'receive';
  readonly channel: Reference;
  readonly summary: string;
  readonly messages: readonly Reference[];
  readonly reply?: { readonly channel: Reference; readonly messages: readonly Reference[] };
}

/** The messages of one direction. `receive` means messages from clients, because the document describes the server. */
export function messagesOf(
  { channels, operations }: AsyncApi,
  action: StreamOperation['action'],
): readonly StreamMessage[] {
  const received = new Set(
    Object.values(operations)
      .filter((operation) => operation.action === 'receive')
      .flatMap(({ messages }) => messages.map(({ $ref }) => $ref.split('/').at(-1))),
  );
  return Object.entries(channels.stream.messages)
    .filter(([key]) => received.has(key) === (action === 'receive'))
    .map(([, message]) => message);
}
