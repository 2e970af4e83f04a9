import { Inject, Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { entityTag, type Reply } from '#libs/edge/reply/reply.js';
import { INTERFACE } from '../tokens.js';
import { asyncApi, CACHE_CONTROL, docs, openApi } from './document-endpoints.js';
import { httpDocument } from './http-document.js';
import { documentPage } from '#libs/edge/documents/page/page.js';
import { streamDocument } from './stream-document.js';

/** The descriptions of the interface. They are made once: nothing about them changes while the process lives. */
@Injectable()
export class DocumentsController {
  private readonly openApiReply: Reply;
  private readonly asyncApiReply: Reply;
  private readonly pageReply: Reply;

  constructor(@Inject(INTERFACE) specs: readonly EndpointSpec[]) {
    const http = httpDocument(specs);
    const stream = streamDocument();
    this.openApiReply = cachedReply(JSON.stringify(http));
    this.asyncApiReply = cachedReply(JSON.stringify(stream));
    const { html, policy } = documentPage(http, stream);
    this.pageReply = cachedReply(html, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  }

  @Endpoint(openApi)
  openApi(): Reply {
    return this.openApiReply;
  }

  @Endpoint(asyncApi)
  asyncApi(): Reply {
    return this.asyncApiReply;
  }

  @Endpoint(docs)
  docs(): Reply {
    return this.pageReply;
  }
}

function cachedReply(body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status: 200,
    body,
    headers: { 'cache-control': CACHE_CONTROL, etag: entityTag(body), ...headers },
  };
}
