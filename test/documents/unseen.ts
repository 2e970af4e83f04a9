export interface Unseen {
  /** A part of a document as the check names it; a star stands for anything. */
  readonly what: string;
  readonly why: string;
}

/** What the documents tell and no test can bring about from outside. Whatever is seen after all has no place here. */
export const UNSEEN: readonly Unseen[] = [
  {
    what: '* 503 owner_response_invalid',
    why: 'An owner would have to answer with garbage; libs/owner-link/link.spec.ts makes one that does.',
  },
];
