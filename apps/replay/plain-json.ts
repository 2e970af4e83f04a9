/**
 * Parses the JSON of a bundle strictly. Programs disagree about duplicate names and about numbers that they
 * round, so both are refused.
 */
export function parsePlainJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  refuseAmbiguity(text);
  return value;
}

/** One string, number, bracket or comma. The text is valid JSON, so the rest can be skipped. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]/g;

function refuseAmbiguity(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const names = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      isName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      isName = false;
    } else if (token === ',') isName = names !== undefined;
    else if (token.startsWith('"')) {
      if (isName && names !== undefined) enter(names, JSON.parse(token) as string);
      isName = false;
    } else if (JSON.stringify(Number(token)) !== token)
      throw new SyntaxError(`${token} is a number that programs read differently`);
  }
}

function enter(names: Set<string>, name: string): void {
  if (names.has(name)) throw new SyntaxError(`"${name}" occurs twice in one object`);
  names.add(name);
}
