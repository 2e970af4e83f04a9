export interface TranscriptLine {
  readonly text: string;
  readonly atNanos: number;
}

/** What each observed account was sent, in order, on each connection. */
export class TwinTranscript {
  private readonly told = new Map<string, TranscriptLine[]>();

  constructor(private readonly untilNanos: number) {}

  note(account: string, way: string, text: string, nowNanos: number): void {
    if (nowNanos > this.untilNanos) return;
    const name = `${account} ${way}`;
    const lines = this.told.get(name) ?? [];
    this.told.set(name, lines);
    lines.push({ text: withoutTimes(text), atNanos: nowNanos });
  }

  waysOf(account: string): string[] {
    return [...this.told.keys()].filter((name) => name.startsWith(account));
  }

  on(way: string): readonly TranscriptLine[] {
    return this.told.get(way) ?? [];
  }
}

/** Ids follow from accounts and keys, so only times and tokens may differ between two runs of one world. */
function withoutTimes(text: string): string {
  return text
    .replace(/"next_cursor":"([^"]*)"/g, (_, cursor: string) => `"next_cursor":${plain(cursor)}`)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
    .replace(/,?"resume_token":"[^"]*"/g, '')
    .replace(/"connection_id":"[^"]*"/g, '"connection_id":"C"');
}

function plain(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}
