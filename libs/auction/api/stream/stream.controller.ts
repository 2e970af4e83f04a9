import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { UPGRADE_REQUIRED } from '../refusals.js';
import { streamEndpoint } from './stream-endpoint.js';

/** Handshakes never come here: they are led past the endpoints. What does come is told what it should have been. */
@Injectable()
export class StreamController {
  @Endpoint(streamEndpoint)
  open(): Reply {
    return UPGRADE_REQUIRED;
  }
}
