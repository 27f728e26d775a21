// The baseline of `framebus bench credential`: the libsodium calls that opening a credential needs,
// without files, index or log.

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "RingKit.h"

enum {
  // Sizes of an item with two recipients, a log record, and a credential in the index.
  ITEM_BYTES = 900,
  RECORD_BYTES = 448,
  ATTRIBUTES_BYTES = 110,
  BLOCK_CREDENTIALS = 128,
  BLOCK_HEAD_BYTES = 62,
  CONTEXT_BYTES = 280,
  KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
  NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
  TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
};

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

typedef struct {
  unsigned char open_public[crypto_box_PUBLICKEYBYTES], open_secret[crypto_box_SECRETKEYBYTES];
  unsigned char sign_public[crypto_sign_PUBLICKEYBYTES], sign_secret[crypto_sign_SECRETKEYBYTES];
} keys;

/// Opens one sealed secret, verifies its signature, and signs a record of the access.
static void get(const ring_job *job, const keys *own, ring_publishing *run) {
  size_t padded = (job->bytes / 256 + 1) * 256;
  unsigned char key[KEY_BYTES], nonce[NONCE_BYTES] = {0}, context[CONTEXT_BYTES] = {0};
  unsigned char sealed[KEY_BYTES + crypto_box_SEALBYTES], digest[32];
  unsigned char item[ITEM_BYTES] = {0}, record[RECORD_BYTES + crypto_sign_BYTES] = {0};
  unsigned char signature[crypto_sign_BYTES];
  unsigned char *body = calloc(1, padded + TAG_BYTES);
  require(body != NULL, "out of memory");
  randombytes_buf(key, sizeof key);
  crypto_box_seal(sealed, key, sizeof key, own->open_public);
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      body, NULL, body, padded, context, sizeof context, NULL, nonce, key);
  crypto_sign_detached(signature, NULL, item, sizeof item, own->sign_secret);
  while (ring_next(run)) {
    unsigned char *secret = sodium_malloc(padded + KEY_BYTES);
    require(secret != NULL, "cannot lock memory");
    require(
        crypto_sign_verify_detached(signature, item, sizeof item, own->sign_public) == 0 &&
            crypto_box_seal_open(
                secret + padded, sealed, sizeof sealed, own->open_public, own->open_secret) == 0 &&
            crypto_generichash(digest, sizeof digest, item, 33, secret + padded, KEY_BYTES) == 0 &&
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                secret, NULL, NULL, body, padded + TAG_BYTES, context, sizeof context, nonce,
                secret + padded) == 0,
        "cannot open the secret");
    crypto_generichash(digest, sizeof digest, record, sizeof record, NULL, 0);
    crypto_sign_detached(record + RECORD_BYTES, NULL, record, RECORD_BYTES, own->sign_secret);
    sodium_free(secret);
  }
  free(body);
}

/// Verifies the signature of an index's head, and hashes its blocks.
static void list(const ring_job *job, const keys *own, ring_publishing *run) {
  size_t bytes = (size_t)job->credentials * ATTRIBUTES_BYTES;
  size_t head = (size_t)job->credentials / BLOCK_CREDENTIALS * BLOCK_HEAD_BYTES;
  unsigned char *index = calloc(1, bytes + head), signature[crypto_sign_BYTES], digest[32];
  require(index != NULL, "out of memory");
  crypto_sign_detached(signature, NULL, index, head, own->sign_secret);
  while (ring_next(run)) {
    require(
        crypto_sign_verify_detached(signature, index, head, own->sign_public) == 0 &&
            crypto_generichash(digest, sizeof digest, index + head, bytes, NULL, 0) == 0,
        "the signature is wrong");
  }
  free(index);
}

int main(int count, char **arguments) {
  ring_job job = ring_job_from(count, arguments);
  require(sodium_init() >= 0, "cannot initialise libsodium");
  char version[64];
  snprintf(version, sizeof version, "libsodium %s", sodium_version_string());
  ring_print_version(version);
  keys own;
  crypto_box_keypair(own.open_public, own.open_secret);
  crypto_sign_keypair(own.sign_public, own.sign_secret);
  ring_publishing *run = ring_begin_publishing(&job);
  if (job.lists) {
    list(&job, &own, run);
  } else {
    get(&job, &own, run);
  }
  ring_report_publishing(run);
  return 0;
}
