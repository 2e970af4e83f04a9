import { Injectable } from '@nestjs/common';
import { documentPage } from '#libs/edge/documents/page/page.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { documentReply, pageReply } from '#libs/edge/documents/served.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { dataDocs, dataOpenApi } from './document-endpoints.js';

/** The description of one listener. It is made once: nothing about it changes while the process lives. */
@Injectable()
export class DataDocumentsController {
  private readonly openApiReply: Reply;
  private readonly pageReply: Reply;

  constructor(document: OpenApi) {
    this.openApiReply = documentReply(document);
    this.pageReply = pageReply(documentPage(document));
  }

  @Endpoint(dataOpenApi)
  openApi(): Reply {
    return this.openApiReply;
  }

  @Endpoint(dataDocs)
  docs(): Reply {
    return this.pageReply;
  }
}
