#include "CWebRTC.h"

#ifdef FRAMEBUS_MEDIA
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { VALID_SECONDS = 30 * 24 * 3600, CLOCK_SKEW_SECONDS = 24 * 3600 };

static bool fill(X509 *certificate, EVP_PKEY *key) {
  uint32_t number = 0;
  if (RAND_bytes((unsigned char *)&number, sizeof number) != 1) return false;
  X509_NAME *name = X509_get_subject_name(certificate);
  return X509_set_version(certificate, 2) == 1 &&
         ASN1_INTEGER_set(X509_get_serialNumber(certificate), (long)(number >> 1)) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -CLOCK_SKEW_SECONDS) != NULL &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), VALID_SECONDS) != NULL &&
         X509_set_pubkey(certificate, key) == 1 &&
         // The same name for all users, so that it does not identify one.
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"WebRTC", -1,
                                    -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

static bool write_pem(EVP_PKEY *key, X509 *certificate, char *text, size_t capacity) {
  BIO *memory = BIO_new(BIO_s_mem());
  if (memory == NULL) return false;
  bool isWritten = PEM_write_bio_PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL) == 1 &&
                   PEM_write_bio_X509(memory, certificate) == 1;
  int count = isWritten ? BIO_read(memory, text, (int)capacity - 1) : 0;
  isWritten = count > 0 && BIO_pending(memory) == 0;
  if (isWritten) text[count] = 0;
  BIO_free(memory);
  return isWritten;
}

static bool write_fingerprint(X509 *certificate, const EVP_MD *hash, char *text, size_t capacity) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned count = 0;
  if (hash == NULL || X509_digest(certificate, hash, digest, &count) != 1) return false;
  if (count * 3 > capacity) return false;
  for (unsigned i = 0; i < count; i++)
    snprintf(text + 3 * i, 4, "%02X%s", digest[i], i + 1 < count ? ":" : "");
  return true;
}

bool webrtc_identity_make(struct webrtc_identity *identity) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  bool isMade =
      key != NULL && certificate != NULL && fill(certificate, key) &&
      write_pem(key, certificate, identity->pem, sizeof identity->pem) &&
      write_fingerprint(certificate, EVP_sha256(), identity->fingerprint,
                        sizeof identity->fingerprint);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return isMade;
}

/// Those of RFC 8122 that are not broken.
static const EVP_MD *hash_named(const char *name, size_t length) {
  if (length == 7 && strncasecmp(name, "sha-256", length) == 0) return EVP_sha256();
  if (length == 7 && strncasecmp(name, "sha-384", length) == 0) return EVP_sha384();
  if (length == 7 && strncasecmp(name, "sha-512", length) == 0) return EVP_sha512();
  if (length == 5 && strncasecmp(name, "sha-1", length) == 0) return EVP_sha1();
  return NULL;
}

bool webrtc_certificate_has(const char *pem, const char *fingerprint) {
  const char *value = strchr(fingerprint, ' ');
  if (value == NULL) return false;
  const EVP_MD *hash = hash_named(fingerprint, (size_t)(value - fingerprint));
  while (*value == ' ') value++;
  BIO *memory = BIO_new_mem_buf(pem, -1);
  X509 *certificate = memory != NULL ? PEM_read_bio_X509(memory, NULL, NULL, NULL) : NULL;
  char text[3 * EVP_MAX_MD_SIZE];
  size_t length = strcspn(value, " ");
  bool isSame = certificate != NULL && write_fingerprint(certificate, hash, text, sizeof text) &&
                strlen(text) == length && strncasecmp(text, value, length) == 0;
  X509_free(certificate);
  BIO_free(memory);
  return isSame;
}

#else
typedef int webrtc_identity_is_absent;
#endif
