import { markup, type Markup } from './markup.js';

/** The part of Markdown that the documents use: headings, paragraphs, lists, tables, code and bold words. */
export function markdown(text: string): Markup {
  const blocks = text.trim().split(/\n{2,}/);
  return markup`${blocks.map((block) => blockOf(block.split('\n')))}`;
}

/** A single line of Markdown. */
export function inline(text: string): Markup {
  const pieces = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return markup`${pieces.map((piece) => {
    if (piece.startsWith('`') && piece.length > 2) return markup`<code>${piece.slice(1, -1)}</code>`;
    return piece.startsWith('**') ? markup`<strong>${piece.slice(2, -2)}</strong>` : piece;
  })}`;
}

function blockOf(lines: readonly string[]): Markup {
  const [first = ''] = lines;
  if (first.startsWith('## ')) return markup`<h4>${inline(first.slice(3))}</h4>`;
  if (first.startsWith('|')) return table(lines);
  if (first.startsWith('- '))
    return markup`<ul>
      ${itemsOf(lines, /^- /)}
    </ul>`;
  if (/^\d+\. /.test(first))
    return markup`<ol>
      ${itemsOf(lines, /^\d+\. /)}
    </ol>`;
  return markup`<p>${inline(lines.join(' '))}</p>`;
}

function itemsOf(lines: readonly string[], mark: RegExp): Markup[] {
  const items: string[] = [];
  for (const line of lines) {
    if (mark.test(line)) items.push(line.replace(mark, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return items.map((item) => markup`<li>${inline(item)}</li>`);
}

function table([head = '', , ...rows]: readonly string[]): Markup {
  const cells = (line: string): string[] => line.slice(1, line.lastIndexOf('|')).split('|');
  const row = (line: string, cell: (text: Markup) => Markup): Markup =>
    markup`<tr>${cells(line).map((text) => cell(inline(text.trim())))}</tr>`;
  return markup`<div class="scroll"><table>
${row(head, (text) => markup`<th>${text}</th>`)}
${rows.map((line) => row(line, (text) => markup`<td>${text}</td>`))}
</table></div>`;
}
