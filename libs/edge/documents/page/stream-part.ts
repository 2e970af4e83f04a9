import { messagesOf, type AsyncApi, type StreamMessage } from '#libs/edge/documents/asyncapi-types.js';
import { inline, markdown } from './markdown.js';
import { markup, type Markup } from './markup.js';
import { schemaTable } from './schema-table.js';

type Direction = 'in' | 'out';
const ACTIONS = { in: 'receive', out: 'send' } as const;

export function streamNavigation(document: AsyncApi): Markup {
  const list = (title: string, direction: Direction): Markup =>
    markup`<h3>${title}</h3><ul>${messagesOf(document, ACTIONS[direction]).map(
      ({ name }) => markup`<li><a href="#message-${name}">${name}</a></li>`,
    )}</ul>`;
  return markup`${list('Client', 'in')}${list('Server', 'out')}`;
}

export function streamPart(document: AsyncApi): Markup {
  const { asyncapi, info, channels } = document;
  const closes = Object.entries(channels.stream['x-close-codes']).map(
    ([code, meaning]) => markup`<tr><td><code>${code}</code></td><td>${inline(meaning)}</td></tr>`,
  );
  return markup`
<section id="stream" class="part"><h2>${info.title}</h2>
<p class="version">AsyncAPI ${asyncapi}, version ${info.version}: <a href="asyncapi.json">asyncapi.json</a></p>
${markdown(info.description)}
<h4>Close codes</h4>
<div class="scroll"><table>${closes}</table></div>
</section>
${directionPart(document, 'Messages from clients', 'in')}
${directionPart(document, 'Messages from the server', 'out')}`;
}

function directionPart(document: AsyncApi, title: string, direction: Direction): Markup {
  const messages = messagesOf(document, ACTIONS[direction]);
  return markup`
<section class="part"><h2>${title}</h2>
${messages.map((message) => messageSection(document, message, direction))}
</section>`;
}

function messageSection({ components }: AsyncApi, message: StreamMessage, direction: Direction): Markup {
  const { name, summary, payload, examples = [] } = message;
  const schema = components.schemas[String(payload.$ref).split('/').at(-1) ?? ''] ?? payload;
  return markup`
<article id="message-${name}">
<h3><span class="verb ${direction}">${direction}</span> <code>${name}</code></h3>
<p class="summary">${inline(summary)}</p>
${schemaTable(schema)}
${examples.map((example) => markup`<pre>${JSON.stringify(example.payload, null, 2)}</pre>`)}
</article>`;
}
