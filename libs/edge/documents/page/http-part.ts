import {
  followed,
  type Content,
  type MediaType,
  type OpenApi,
  type OpenApiOperation,
  type Parameter,
  type Reference,
  type Response,
} from '#libs/edge/documents/openapi-types.js';
import { inline, markdown } from './markdown.js';
import { markup, type Markup } from './markup.js';
import { fieldRow, kindOf, schemaTable } from './schema-table.js';

interface LocatedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

export function httpNavigation(document: OpenApi): Markup {
  const link = ({ method, path, operation: { operationId } }: LocatedOperation): Markup =>
    markup`<li><a href="#${operationId}"><span class="verb ${method}">${method}</span> ${path}</a></li>`;
  return markup`${document.tags.map(
    ({ name }) => markup`<h3>${name}</h3><ul>${operationsOf(document, name).map(link)}</ul>`,
  )}`;
}

export function httpPart(document: OpenApi): Markup {
  const { info, openapi, tags } = document;
  return markup`<section id="http">
<h1>${info.title}</h1>
<p class="version">OpenAPI ${openapi}, version ${info.version}: <a href="openapi.json">openapi.json</a></p>
${markdown(info.description)}
</section>
${tags.map(
  ({ name, description }) => markup`
<section class="part"><h2>${name}</h2><p>${inline(description)}</p>
${operationsOf(document, name).map((located) => operationSection(document, located))}
</section>`,
)}
${anyPath(document)}`;
}

function operationsOf({ paths }: OpenApi, tag: string): LocatedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}

function operationSection(document: OpenApi, { method, path, operation }: LocatedOperation): Markup {
  const { operationId, summary, description, requestBody, responses } = operation;
  const parameters = operation.parameters.map((parameter) =>
    followed<Parameter>(parameter, document.components.parameters),
  );
  const answers = Object.entries(responses);
  return markup`
<article id="${operationId}">
<h3><span class="verb ${method}">${method}</span> <code>${path}</code></h3>
<p class="summary">${inline(summary)}. ${accessOf(operation)}</p>
${description === undefined ? undefined : markdown(description)}
<h4>Parameters</h4>
<div class="scroll"><table class="fields">${parameters.map(parameterRow)}</table></div>
${requestBody === undefined ? undefined : markup`<h4>Body</h4>${bodyOf(document, requestBody.content)}`}
<h4>Answers</h4>
${answers.map(([status, response]) => ('$ref' in response ? undefined : answerDetails(status, response)))}
${sharedAnswers(answers)}
</article>`;
}

function accessOf({ security }: OpenApiOperation): Markup {
  const [needed] = security;
  if (needed === undefined) return markup`<span class="access">public</span>`;
  const capabilities = Object.values(needed).flat();
  return markup`<span class="access">session${capabilities.map((name) => markup` with <code>${name}</code>`)}</span>`;
}

function parameterRow({ name, in: where, required, schema, description }: Parameter): Markup {
  const location = where === 'query' && required === true ? 'query, required' : where;
  return fieldRow(name, location, kindOf(schema), description);
}

/** A request schema is shown where it is used; reply schemas have their own section. */
function bodyOf({ components }: OpenApi, content: Content): Markup {
  return markup`${Object.entries(content).map(([type, media]) => {
    const name = String(media.schema.$ref).split('/').at(-1) ?? '';
    const table = schemaTable(components.schemas[name] ?? media.schema);
    return markup`<p class="kind">${type}</p>${table}${exampleOf(media)}`;
  })}`;
}

/** Replies that many operations share are shown once. */
function sharedAnswers(answers: readonly (readonly [string, Response | Reference])[]): Markup {
  const shared = answers.filter(([, response]) => '$ref' in response).map(([status]) => status);
  const links = shared.map((status) => markup`<a href="#any-${status}">${status}</a> `);
  return markup`<p class="kind">As for any request: ${links}</p>`;
}

function anyPath({ components, 'x-any-path': any }: OpenApi): Markup {
  const article = ([status, reference]: readonly [string, Reference]): Markup => {
    const response = followed<Response>(reference, components.responses);
    return markup`<article id="any-${status}">${answerDetails(status, response)}</article>`;
  };
  return markup`
<section class="part"><h2>Answers to any request</h2><p>For every path, existing or not.</p>
${Object.entries(any).map(article)}
</section>`;
}

function answerDetails(status: string, { description, headers = {}, content = {} }: Response): Markup {
  const [first = '', ...codes] = description.split(/^(?=- )/m);
  const isList = first.startsWith('- ');
  const refused = Number(status) >= 400;
  const own = Object.keys(headers).filter((name) => !('$ref' in (headers[name] ?? {})));
  const listed = isList ? [first, ...codes] : codes;
  return markup`<details class="answer s${status.charAt(0)}"><summary><b>${status}</b> ${
    isList ? undefined : inline(first)
  }${refused ? codesIn(content) : undefined}</summary>
${listed.length === 0 ? undefined : markdown(listed.join(''))}
${own.length === 0 ? undefined : markup`<p class="kind">Headers: ${own.map((name) => markup`<code>${name}</code> `)}</p>`}
${Object.entries(content).map(
  ([type, media]) => markup`<p class="kind">${type}: ${kindOf(media.schema)}</p>${exampleOf(media)}`,
)}</details>
`;
}

function codesIn(content: Content): Markup {
  const schema = content['application/json']?.schema as
    { readonly properties?: { readonly error?: { readonly enum?: readonly string[] } } } | undefined;
  const codes = schema?.properties?.error?.enum ?? [];
  return markup` ${codes.map((code) => markup`<code>${code}</code> `)}`;
}

function exampleOf({ examples = {} }: MediaType): Markup {
  return markup`${Object.values(examples).map(({ value }) => markup`<pre>${JSON.stringify(value, null, 2)}</pre>`)}`;
}
