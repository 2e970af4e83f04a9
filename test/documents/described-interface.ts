import 'reflect-metadata';
import { httpDocument } from '#libs/auction/api/documents/http-document.js';
import { streamDocument } from '#libs/auction/api/documents/stream-document.js';
import { CONTROLLERS } from '#apps/gateway/auction/auction.module.js';
import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';

/** The documents as a gateway serves them. */
export const specs = endpointSpecsOf(CONTROLLERS);
export const http = httpDocument(specs);
export const stream = streamDocument();
