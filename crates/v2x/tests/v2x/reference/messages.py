import json, sys, hashlib
from pycrate_asn1dir import ITS_IEEE1609_2 as its
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives import hashes
sha = lambda b: hashlib.sha256(b).digest()
given = json.load(sys.stdin)
Data, Cert = its.Ieee1609Dot2.Ieee1609Dot2Data, its.Ieee1609Dot2.Certificate
Tbs, TbsCert = its.Ieee1609Dot2.ToBeSignedData, its.Ieee1609Dot2.ToBeSignedCertificate

def read(kind, data):
    kind.from_coer(data); assert kind.to_coer() == data
    return kind.get_val()

def key_of(cert):
    form, x = cert['toBeSigned']['verifyKeyIndicator'][1][1]
    prefix = {'compressed-y-0': b'\2', 'compressed-y-1': b'\3'}[form]
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), prefix + x)

def verify(cert, tbs, signer, signature):
    assert signature[0] == 'ecdsaNistP256Signature', signature[0]
    r = signature[1]['rSig'][1]
    r = r['x'] if isinstance(r, dict) else r
    number = lambda b: int.from_bytes(b, 'big')
    der = encode_dss_signature(number(r), number(signature[1]['sSig']))
    key_of(cert).verify(der, sha(tbs) + sha(signer), ec.ECDSA(hashes.SHA256()))

def encoded(kind, value):
    kind.set_val(value); return kind.to_coer()

certs = [read(Cert, bytes.fromhex(h)) for h in given['chain']]
raw = [bytes.fromhex(h) for h in given['chain']]
for i, cert in enumerate(certs):
    tbs = encoded(TbsCert, cert['toBeSigned'])
    above, signer = (certs[i-1], raw[i-1]) if i else (cert, b'')
    if i: assert cert['issuer'] == ('sha256AndDigest', sha(signer)[-8:])
    verify(above, tbs, signer, cert['signature'])
out = []
for h in given['messages']:
    signed = read(Data, bytes.fromhex(h))['content'][1]
    tbs = encoded(Tbs, signed['tbsData'])
    verify(certs[-1], tbs, raw[-1], signed['signature'])
    header = signed['tbsData']['headerInfo']
    out.append({'signer': signed['signer'][0], 'psid': header['psid'], 'time': header['generationTime'],
        'r': signed['signature'][1]['rSig'][0],
        'payload': signed['tbsData']['payload']['data']['content'][1].hex()})
print(json.dumps(out))
