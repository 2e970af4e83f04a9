import { createHash } from 'node:crypto';
import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { httpNavigation, httpPart } from './http-part.js';
import { inline } from './markdown.js';
import { markup, Markup } from './markup.js';
import { schemaTable } from './schema-table.js';
import { streamNavigation, streamPart } from './stream-part.js';
import { STYLE } from './style.js';

export interface DocumentPage {
  readonly html: string;
  /** A content security policy that allows only the page's own style. */
  readonly policy: string;
}

/** Schemas that are shown where they are used. */
const SHOWN_ELSEWHERE = /(?:Message|Request)$/;

/** Shows both documents on one page that loads nothing else, also no script or font. Some services have no stream. */
export function documentPage(http: OpenApi, stream?: AsyncApi): DocumentPage {
  const schemas = Object.entries({ ...stream?.components.schemas, ...http.components.schemas })
    .filter(([name]) => !SHOWN_ELSEWHERE.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${http.info.title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<nav aria-label="Contents">
<h2><a href="#http">HTTP</a></h2>${httpNavigation(http)}
${stream === undefined ? undefined : markup`<h2><a href="#stream">Stream</a></h2>${streamNavigation(stream)}`}
<h2><a href="#schemas">Schemas</a></h2>
<ul>${schemas.map(([name]) => markup`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
</nav>
<main>
${httpPart(http)}
${stream === undefined ? undefined : streamPart(stream)}
<section id="schemas" class="part"><h2>Schemas</h2>${schemas.map(schemaSection)}</section>
</main>
</body>
</html>
`;
  const hash = createHash('sha256').update(STYLE).digest('base64');
  return {
    html: page.text,
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function schemaSection([name, schema]: readonly [string, JsonSchema]): Markup {
  const { description } = schema as { readonly description?: string };
  const intro = description === undefined ? undefined : markup`<p>${inline(description)}</p>`;
  return markup`
<article id="schema-${name}"><h3>${name}</h3>${intro}${schemaTable(schema)}</article>`;
}
