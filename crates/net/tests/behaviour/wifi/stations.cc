// Stations of 802.11a that send packets of 1,500 bytes at random times to one receiver, in ns-3.
// Arguments: the number of stations, a station's mean interval in microseconds, and seconds.
// Prints the number of packets that arrived and their mean delay in microseconds.

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace {

const uint32_t kBytes = 1500;
uint64_t arrived = 0;
int64_t delay_ns = 0;
double interval_us = 0;
Ptr<ExponentialRandomVariable> gap;

void Arrive(Ptr<Socket> socket) {
  while (Ptr<Packet> packet = socket->Recv()) {
    int64_t sent = 0;
    packet->CopyData(reinterpret_cast<uint8_t*>(&sent), sizeof sent);
    arrived += 1;
    delay_ns += Simulator::Now().GetNanoSeconds() - sent;
  }
}

void Send(Ptr<Socket> socket) {
  uint8_t bytes[kBytes] = {};
  const int64_t now = Simulator::Now().GetNanoSeconds();
  std::memcpy(bytes, &now, sizeof now);
  socket->Send(Create<Packet>(bytes, kBytes));
  Simulator::Schedule(NanoSeconds(gap->GetValue(interval_us * 1e3, 0)), &Send, socket);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: stations STATIONS INTERVAL_US SECONDS\n";
    return 2;
  }
  const uint32_t stations = std::atoi(argv[1]);
  interval_us = std::atof(argv[2]);
  gap = CreateObject<ExponentialRandomVariable>();

  NodeContainer nodes(stations + 1);
  MobilityHelper mobility;
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(nodes);

  // The same signal everywhere: far above noise, and no frame survives a collision.
  YansWifiChannelHelper channel;
  channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
  channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-40));
  YansWifiPhyHelper phy;
  phy.SetChannel(channel.Create());
  WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac");
  WifiHelper wifi;
  wifi.SetStandard(WIFI_STANDARD_80211a);
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                               StringValue("OfdmRate54Mbps"), "ControlMode",
                               StringValue("OfdmRate24Mbps"));
  NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
  PacketSocketHelper sockets;
  sockets.Install(nodes);

  PacketSocketAddress address;
  address.SetProtocol(1);
  address.SetPhysicalAddress(devices.Get(0)->GetAddress());
  const TypeId kind = TypeId::LookupByName("ns3::PacketSocketFactory");
  Ptr<Socket> receiver;
  for (uint32_t node = 0; node <= stations; ++node) {
    address.SetSingleDevice(devices.Get(node)->GetIfIndex());
    Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(node), kind);
    socket->Bind(address);
    if (node == 0) {
      socket->SetRecvCallback(MakeCallback(&Arrive));
      receiver = socket;
    } else {
      socket->Connect(address);
      Simulator::Schedule(NanoSeconds(gap->GetValue(interval_us * 1e3, 0)), &Send, socket);
    }
  }
  Simulator::Stop(Seconds(std::atof(argv[3])));
  Simulator::Run();
  Simulator::Destroy();
  std::cout << arrived << " " << delay_ns / 1e3 / arrived << "\n";
}
