import jwt from 'jsonwebtoken';
import type { SigningKey } from '../keys/signing-key.js';
import { AUDIENCE, ISSUER, TOKEN_VERSION } from './claims.js';

export interface TokenContent {
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly email: string;
  readonly iat: number;
  readonly exp: number;
}

export function signToken(content: TokenContent, key: SigningKey): string {
  const claims = { ...content, ver: TOKEN_VERSION, iss: ISSUER, aud: AUDIENCE };
  return jwt.sign(claims, key.privateKey, { algorithm: 'RS256', keyid: key.kid });
}
