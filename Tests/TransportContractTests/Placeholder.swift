// TransportContractTests
