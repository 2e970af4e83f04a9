import type { OracleArchive } from './archive.js';
import { isOriginatorKnownTo } from './told/names.js';
import { must } from './violation.js';

const PRIVATE = 'nobody is named to whom it is not disclosed';
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Nothing that somebody is told, whatever it is, names an account that no auction has disclosed to it. */
export class DisclosedNames {
  constructor(private readonly archive: OracleArchive) {}

  /** What it has said itself it may be told. */
  check(account: string, text: string, said = ''): void {
    for (const [id] of text.matchAll(UUID)) if (!said.includes(id)) this.checkId(account, id);
  }

  checkId(account: string, id: string): void {
    if (id === account || !this.archive.accounts.has(id)) return;
    must(this.isKnownTo(account, id), PRIVATE, () => `${account} is told of ${id}`);
  }

  private isKnownTo(account: string, other: string): boolean {
    return [...this.archive.pictures.values()].some((picture) => {
      const { originator, audience } = picture.file.terms;
      const isInvited = (one: string): boolean => audience.some(({ account_id: id }) => id === one);
      if (originator.account_id === account) return isInvited(other);
      if (originator.account_id !== other || !isInvited(account)) return false;
      return isOriginatorKnownTo(picture, account);
    });
  }
}
