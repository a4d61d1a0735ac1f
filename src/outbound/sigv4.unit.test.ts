import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { escaped, signedHeaders } from './sigv4.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

// The examples of "Authenticating Requests: Using the Authorization Header" in the S3 documentation.
const published = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  at: new Date('2013-05-24T00:00:00Z'),
}

it.each([
  [
    'a GET with a range',
    'GET',
    '/test.txt',
    { range: 'bytes=0-9' },
    '',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'a PUT with an escaped name',
    'PUT',
    `/${escaped('test$file.text')}`,
    { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    'Welcome to Amazon S3.',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'a query without a value',
    'GET',
    '/?lifecycle',
    {},
    '',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'a query with two values',
    'GET',
    '/?prefix=J&max-keys=2',
    {},
    '',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('signs %s as the published example does', (_name, method, path, headers, body, signature) => {
  const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`)
  const payloadHash = sha256(body)
  const { authorization } = signedHeaders({ ...published, method, url, headers, payloadHash })
  expect(authorization).toMatch(new RegExp(`Signature=${signature}$`))
})
