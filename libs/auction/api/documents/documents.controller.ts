import { Inject, Injectable } from '@nestjs/common';
import { documentPage } from '#libs/edge/documents/page/page.js';
import { documentReply, pageReply } from '#libs/edge/documents/served.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { INTERFACE } from '../tokens.js';
import { asyncApi, docs, openApi } from './document-endpoints.js';
import { httpDocument } from './http-document.js';
import { streamDocument } from './stream-document.js';

/** The interface documents. They are built once, because they cannot change while the process runs. */
@Injectable()
export class DocumentsController {
  private readonly openApiReply: Reply;
  private readonly asyncApiReply: Reply;
  private readonly pageReply: Reply;

  constructor(@Inject(INTERFACE) specs: readonly EndpointSpec[]) {
    const http = httpDocument(specs);
    const stream = streamDocument();
    this.openApiReply = documentReply(http);
    this.asyncApiReply = documentReply(stream);
    this.pageReply = pageReply(documentPage(http, stream));
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
