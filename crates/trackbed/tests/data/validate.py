import sys, yaml, kubernetes_validate
for document in yaml.safe_load_all(open(sys.argv[1])):
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    print(document['kind'], document['metadata']['name'])
