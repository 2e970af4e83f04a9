import type { JsonSchema } from '../decoding/decode.js';
import type { EndpointSpec } from '../endpoint.js';
import { ANYWHERE, type About } from './about.js';
import type { Answer } from './answer.js';
import type { Components } from './components.js';
import { codesOf, edgeAnswersOf, type EdgeAnswer } from './edge-answers.js';
import type { Header, MediaType, Reference, Response } from './openapi-types.js';
import { constant, type Shape } from './shapes.js';

const JSON_TYPE = 'application/json';
const REF = '#/components/responses';
const NO_STORE: JsonSchema = { type: 'string', const: 'no-store' };

/** Headers of answers with a certain status. */
const SPECIAL_HEADERS: Readonly<Record<number, Readonly<Record<string, Shape>>>> = {
  401: { 'www-authenticate': constant('Bearer') },
  426: {
    upgrade: constant('websocket'),
    'sec-websocket-version': constant('13'),
  },
  405: { allow: { describe: () => ({ type: 'string', pattern: '^([A-Z]+(, [A-Z]+)*)?$' }) } },
};

/** Headers that every answer has. */
export const EVERY_HEADER: Readonly<Record<string, Header>> = {
  'x-request-id': {
    required: true,
    description: "The id of this request in the service's logs: the caller's id, or a generated one.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
  },
  'cache-control': {
    required: true,
    description: 'Answers are only for this caller and this moment. Caches must not store them.',
    schema: NO_STORE,
  },
};

/** Builds the responses of operations, and the responses that many operations share. */
export class Responses {
  private readonly edgeAnswers: readonly EdgeAnswer[];

  constructor(
    private readonly about: About,
    private readonly components: Components,
  ) {
    this.edgeAnswers = edgeAnswersOf(about.dialect);
  }

  /** The replies of the edge to any request, which the document defines once. */
  get common(): Readonly<Record<string, Response>> {
    return Object.fromEntries(
      this.edgeAnswers.map(({ name, status, codes, description }) => [
        name,
        this.refusal(status, codes, {
          description: this.about.manners?.descriptions[name] ?? description,
          operationId: ANYWHERE,
        }),
      ]),
    );
  }

  of(spec: EndpointSpec): Readonly<Record<string, Response | Reference>> {
    const codes = codesOf(spec, this.about.dialect);
    const answers = spec.answers ?? {};
    const statuses = [...new Set([...Object.keys(answers).map(Number), ...codes.keys()])].sort(
      (a, b) => a - b,
    );
    const entries = statuses.map((status) => {
      return [String(status), this.response(spec, status, codes.get(status) ?? [])] as const;
    });
    const tagged = Object.values(answers).some(({ headers }) => headers?.etag !== undefined);
    return Object.fromEntries(tagged ? [...entries, ['304', this.notModified(spec)]] : entries);
  }

  private response(spec: EndpointSpec, status: number, codes: readonly string[]): Response | Reference {
    const answer = spec.answers?.[status];
    const { operationId } = spec;
    if (answer !== undefined) return this.answer(spec, status, answer, codes);
    const message = status === 401 ? spec.unauthorizedMessage : undefined;
    const common = this.edgeAnswers.find((edge) => edge.status === status && isSame(edge, codes));
    if (common !== undefined && message === undefined) return { $ref: `${REF}/${common.name}` };
    return this.refusal(status, codes, { operationId, message, spec });
  }

  private answer(spec: EndpointSpec, status: number, answer: Answer, codes: readonly string[]): Response {
    const { operationId } = spec;
    const own = this.about.manners?.headersOf(status, spec);
    const bodies = answer.body === undefined ? [] : [this.components.schemaOf(answer.body)];
    if (codes.length > 0) bodies.push(...this.refusedBodies(status, codes));
    const schema = bodies.length > 1 ? { oneOf: bodies } : bodies[0];
    const examples = this.about.examplesOf(operationId)?.responses ?? {};
    const example = examples[String(status)];
    const also = Object.entries(answer.also ?? {}).map(([type, shape]) => {
      const other = this.components.schemaOf(shape);
      return [type, withLines(other, examples[`${status} ${type}`])] as const;
    });
    const json = schema === undefined ? [] : [[JSON_TYPE, withExample(schema, 'recorded', example)] as const];
    const content = Object.fromEntries([...json, ...also]);
    return {
      description: [answer.description, ...this.listed(codes)].join('\n'),
      // The reply to a handshake comes from the WebSocket library, and is only a status.
      ...(status < 200 ? {} : { headers: this.headers({ ...own, ...answer.headers }) }),
      ...(Object.keys(content).length > 0 ? { content } : {}),
    };
  }

  private refusal(
    status: number,
    codes: readonly string[],
    { description, operationId, message, spec }: Refusal,
  ): Response {
    const { manners } = this.about;
    if (manners !== undefined) {
      const content = manners.contentOf(codes);
      return {
        description: description ?? this.listed(codes).join('\n'),
        headers: this.headers(manners.headersOf(status, spec)),
        ...(content === undefined ? {} : { content }),
      };
    }
    const recorded = this.about.examplesOf(operationId)?.responses ?? {};
    const shown = codes.find((code) => `${status} ${code}` in recorded);
    const example = shown === undefined ? undefined : recorded[`${status} ${shown}`];
    const schema = this.envelope(status, codes, message);
    return {
      description: description ?? this.listed(codes).join('\n'),
      headers: this.headers(SPECIAL_HEADERS[status]),
      content: { [JSON_TYPE]: withExample(schema, shown ?? '', example) },
    };
  }

  /** Bodies of refusals whose status an answer of the endpoint has too. */
  private refusedBodies(status: number, codes: readonly string[]): JsonSchema[] {
    const { manners } = this.about;
    if (manners === undefined) return [this.envelope(status, codes)];
    const content = manners.contentOf(codes)?.[JSON_TYPE];
    return content === undefined ? [] : [content.schema];
  }

  /** The flat envelope with the codes that are possible here. */
  private envelope(status: number, codes: readonly string[], message?: string): JsonSchema {
    const explained = this.about.explained.has(status) || message !== undefined;
    const messageSchema = message === undefined ? {} : { message: { type: 'string', const: message } };
    return {
      $ref: `#/components/schemas/${explained ? 'Rejection' : 'Error'}`,
      type: 'object',
      properties: { error: { type: 'string', enum: codes }, ...messageSchema },
    };
  }

  private listed(codes: readonly string[]): string[] {
    return codes.map((code) => `- \`${code}\`: ${this.about.codes[code] ?? ''}`);
  }

  private headers(
    special: Readonly<Record<string, Shape>> = {},
  ): Readonly<Record<string, Header | Reference>> {
    const headers: Record<string, Header | Reference> = {};
    for (const name of Object.keys({ ...EVERY_HEADER, ...this.about.manners?.headers })) {
      if (!(name in special)) headers[name] = { $ref: `#/components/headers/${name}` };
    }
    for (const [name, shape] of Object.entries(special)) {
      headers[name] = {
        description: this.about.fields[name] ?? '',
        required: !('mayBeAbsent' in shape),
        schema: this.components.schemaOf(shape),
      };
    }
    return headers;
  }

  private notModified(spec: EndpointSpec): Response {
    const answer = spec.answers?.[200];
    return {
      description: 'The content still matches `If-None-Match`.',
      headers: this.headers({ ...this.about.manners?.headersOf(304, spec), ...answer?.headers }),
    };
  }
}

interface Refusal {
  readonly operationId: string;
  readonly description?: string;
  readonly message?: string | undefined;
  readonly spec?: EndpointSpec;
}

function isSame(edge: EdgeAnswer, codes: readonly string[]): boolean {
  return edge.codes.length === codes.length && edge.codes.every((code) => codes.includes(code));
}

function withExample(schema: JsonSchema, name: string, value: unknown): MediaType {
  return value === undefined ? { schema } : { schema, examples: { [name]: { value } } };
}

/** Shows the first and the last line of NDJSON text, because the schema describes one line. */
function withLines(schema: JsonSchema, text: unknown): MediaType {
  if (typeof text !== 'string') return { schema };
  const lines = text.trimEnd().split('\n');
  const [first = '{}', last = '{}'] = [lines[0], lines.at(-1)];
  return { schema, examples: { first: shown(first), last: shown(last) } };
}

function shown(line: string): { readonly value: unknown } {
  return { value: JSON.parse(line) };
}
