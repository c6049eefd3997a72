#!/bin/sh
# Prints an Event when the certificate ends within $DAYS days. Reads nothing but CERT (base64 of PEM).
set -eu
pem=$(printf %s "$CERT" | base64 -d)
end=$(printf '%s\n' "$pem" | openssl x509 -noout -enddate) || {
  echo "tls.crt holds no certificate" >&2
  exit 1
}
if printf '%s\n' "$pem" | openssl x509 -noout -checkend $((DAYS * 86400)) >/dev/null; then
  exit 0
fi
cat <<END
apiVersion: kubewatch.dev/v1
kind: Result
message: the certificate ends soon or has ended
events:
  - {type: Warning, reason: CertificateExpires, note: "ends within $DAYS days or has ended: ${end#notAfter=}"}
END
