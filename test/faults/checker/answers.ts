import type { OpenApi, OpenApiOperation } from '#libs/edge/documents/openapi-types.js';
import { documentedResponse } from '#libs/testing/interface/http-routes.js';
import { commandName } from '../../simulator/oracle/archive.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import { must } from '../../simulator/oracle/violation.js';
import type { AnsweredCommand } from '../load/transcript.js';
import type { Findings } from './findings.js';

const DOCUMENTED = 'documented codes only';
const REPEATED = 'a repeat is not answered as new';
const CREATED = 201;
const OPERATIONS: Readonly<Record<Promised['operation'], string>> = {
  CREATE: 'createAuction',
  CANCEL: 'cancelAuction',
  SUBMIT: 'submitQuote',
  REVISE: 'reviseQuote',
  WITHDRAW: 'withdrawQuote',
  WITHDRAW_ALL: 'withdrawAllQuotes',
};

interface Told {
  readonly error?: string;
}

interface Schema {
  readonly properties?: { readonly error?: { readonly enum?: readonly string[] } };
}

/**
 * Checks answers in the order of arrival, over HTTP and streams. The document must list their status and code
 * for the operation, and a command must not be answered as new twice.
 */
export function checkAnswers(
  answered: readonly AnsweredCommand[],
  document: OpenApi,
  findings: Findings,
): void {
  const operations = new Map(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => [operation.operationId, operation]),
  );
  /** The status of each command's first successful answer. */
  const done = new Map<string, number>();
  for (const { command, status, body } of answered) {
    const { operation, account, auctionId, key } = command;
    const name = commandName(operation, account, auctionId, key);
    findings.look('statuses and codes of answers', () =>
      checkCode(document, operations.get(OPERATIONS[operation]), { operation, status, body, name }),
    );
    if (status >= 300) continue;
    const before = done.get(name);
    if (before === undefined) done.set(name, status);
    else
      findings.look('repeats', () =>
        must(
          status !== CREATED,
          REPEATED,
          () => `${operation} is answered ${status} after ${before}: ${name}`,
        ),
      );
  }
}

function checkCode(
  document: OpenApi,
  operation: OpenApiOperation | undefined,
  told: { readonly operation: string; readonly status: number; readonly body: string; readonly name: string },
): void {
  const { status, body, name } = told;
  const response = operation === undefined ? undefined : documentedResponse(document, operation, status);
  const { error = 'without a code' } = status < 400 ? { error: '' } : (JSON.parse(body) as Told);
  const what = (): string => `${told.operation} is answered ${status} ${error}: ${name}`;
  must(response !== undefined, DOCUMENTED, what);
  if (status < 400) return;
  const { properties }: Schema = response.content?.['application/json']?.schema ?? {};
  must(properties?.error?.enum?.includes(error) === true, DOCUMENTED, what);
}
