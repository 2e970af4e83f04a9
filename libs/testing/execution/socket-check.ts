import type { OrderStream } from '#libs/client/execution-stream.js';
import { socketDocument } from '#libs/execution/api/documents/socket-document.js';
import { CLIENT_OPS } from '#libs/execution/stream/client-messages.js';
import { SERVER_MESSAGES } from '#libs/execution/stream/server-messages.js';
import type { RecordedFrame } from '../interface/recorder.js';
import { StreamCheck } from '../interface/stream-check.js';

/** Holds what sockets of orders have said and heard against their document. */
export class SocketCheck {
  private readonly check = new StreamCheck(socketDocument('1.0.0'));

  /** What the document does not say, or says otherwise. Of what a client said only what was obeyed: the rest may be wrong on purpose. */
  faults({ asked, frames, closed }: OrderStream): string[] {
    const obeyed = frames.flatMap(({ type, req_id }): RecordedFrame[] => {
      const text = type === 'error' ? undefined : asked.get(req_id ?? '');
      return text === undefined ? [] : [{ direction: 'client', text }];
    });
    const told = frames.map((frame): RecordedFrame => ({ direction: 'server', text: JSON.stringify(frame) }));
    return this.check.faults([
      ...obeyed,
      ...told,
      ...(closed === undefined ? [] : [{ closed: closed.code }]),
    ]);
  }

  /** Messages of the document that no socket has shown. */
  get unseen(): string[] {
    return [...CLIENT_OPS, ...SERVER_MESSAGES].filter((name) => !this.check.shown.has(`message ${name}`));
  }
}
