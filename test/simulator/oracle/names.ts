import type { OracleArchive } from './archive.js';
import { isOriginatorKnownTo } from './told/names.js';
import { must } from './violation.js';

const PRIVATE = 'no account is named to others unless disclosed';
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** No answer or frame names an account that no auction has disclosed to its receiver. */
export class DisclosedNames {
  constructor(private readonly archive: OracleArchive) {}

  /** A party may be shown names that it used itself. */
  check(account: string, text: string, said = ''): void {
    for (const [id] of text.matchAll(UUID)) if (!said.includes(id)) this.checkId(account, id);
  }

  checkId(account: string, id: string): void {
    if (id === account || !this.archive.accounts.has(id)) return;
    must(this.isKnownTo(account, id), PRIVATE, () => `${account} is shown ${id}`);
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
