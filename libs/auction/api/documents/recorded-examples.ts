import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { OperationExamples } from '#libs/edge/documents/about.js';

const FOLDER = path.join(rootOf(import.meta.dirname), 'docs/examples');

/** Real answers, recorded by the tests; a document without its examples is still a document. */
export function recordedAnswers(operationId: string): OperationExamples | undefined {
  return contentOf(operationId) as OperationExamples | undefined;
}

/** Real frames of the stream, by the name of their message. */
export function recordedFrames(): Readonly<Record<string, unknown>> {
  return (contentOf('stream') ?? {}) as Readonly<Record<string, unknown>>;
}

function contentOf(name: string): unknown {
  const file = path.join(FOLDER, `${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The folder of package.json, whether this runs compiled or not. */
function rootOf(folder: string): string {
  const above = path.dirname(folder);
  return existsSync(path.join(folder, 'package.json')) || above === folder ? folder : rootOf(above);
}
